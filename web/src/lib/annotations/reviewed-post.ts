import type { Post } from '@vitrine/contract/posts';
import { createContext } from 'svelte';

/** The post of the review that the page shows. Its reviewers cannot read a draft anywhere else (REVIEW-3). */
export const [getReviewedPost, setReviewedPost, hasReviewedPost] = createContext<() => Post>();
