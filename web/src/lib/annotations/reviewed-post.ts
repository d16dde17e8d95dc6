import type { Post } from '@vitrine/contract/posts';
import { createContext } from 'svelte';

/** Returns the post of the review on whose page the viewer is: reviewers of a draft cannot read it anywhere else (REVIEW-3). */
export const [getReviewedPost, setReviewedPost, hasReviewedPost] = createContext<() => Post>();
